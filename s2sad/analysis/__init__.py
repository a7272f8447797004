"""Questions about a program that need primitives or kinds. Rewrites nothing."""
