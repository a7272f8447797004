"""Programs as people write them in their fields, left as they are."""
