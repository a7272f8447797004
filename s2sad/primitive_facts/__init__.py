"""What is known of primitives: result kinds, aliasing, writes, purity, domains."""
