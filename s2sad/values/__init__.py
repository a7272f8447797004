"""Run-time objects, whatever holds them: structures of arguments, snapshots, identity. Knows no trees."""
