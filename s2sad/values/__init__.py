"""Run-time objects: structures of arguments, attributes, snapshots, identity. Knows no trees."""
