"""One module per experiment; ``dawa.bench.registry`` names them."""
