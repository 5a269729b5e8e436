"""Libra's text formats: `.mn`, `.dn` and `.bn` of networks, `.ac` of circuits."""
