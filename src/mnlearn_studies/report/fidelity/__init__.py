"""How closely the record reproduces what the papers print: cells, claims and figures."""
