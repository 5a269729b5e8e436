"""L1-penalised logistic regression along a path of penalties."""
