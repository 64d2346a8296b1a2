"""One module per experiment; ``dawa_bench.registry`` names them."""
