"""The driver: arguments, assumptions, the cache of versions, the generator, Jacobians."""
