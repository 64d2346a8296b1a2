"""What is asked: a workload in cells, and the same workload seen from the buckets. All public."""
