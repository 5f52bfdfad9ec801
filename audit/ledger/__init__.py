"""The evidence ledger of a casino in the record: fed in the order of the tree, once, and asked at the desk."""
