"""Junction trees of bounded treewidth (Chechetka & Guestrin 2007)."""
