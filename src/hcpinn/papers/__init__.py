"""Studies of published papers, one folder each: what it adds to hcpinn is its `EXTENSION`."""
