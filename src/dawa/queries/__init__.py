"""What is asked: a workload on cells, and the same workload on buckets. All public."""
