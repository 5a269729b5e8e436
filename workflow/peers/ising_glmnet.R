# Estimates an Ising network with R's glmnet, as R's IsingFit would, and times it.
#
#   Rscript workflow/peers/ising_glmnet.R DATA.csv OUT.csv [GAMMA]
#
# DATA.csv has a header and values 0 and 1. OUT.csv gets the edges: node_a, node_b, weight. The
# processor seconds of the regressions and of their choice are printed as one number; starting R
# and reading the data are not in them.
#
# It was written from the published description: van Borkulo et al., "A new method for constructing
# networks from binary data", Scientific Reports, 2014. Each variable is regressed on all others
# with glmnet's default path of 100 penalties, the least EBIC chooses the penalty (gamma 0.25 if
# none is given), and an edge needs both regressions (the AND rule). The likelihoods of all
# penalties are computed at once, which takes less time than one penalty after the other.
suppressMessages(library(glmnet))
arguments <- commandArgs(trailingOnly = TRUE)
gamma <- if (length(arguments) > 2) as.numeric(arguments[3]) else 0.25
x <- as.matrix(read.csv(arguments[1], check.names = FALSE))
# glmnet refuses an outcome with fewer than two answers of one kind; IsingFit leaves it out.
x <- x[, apply(x, 2, function(column) min(sum(column == 1), sum(column == 0)) >= 2), drop = FALSE]

choose <- function(v) {
  path <- glmnet(x[, -v], x[, v], family = "binomial")
  beta <- as.matrix(path$beta)
  odds <- sweep(x[, -v] %*% beta, 2, path$a0, "+")
  loglik <- colSums(x[, v] * odds - pmax(odds, 0) - log1p(exp(-abs(odds))))
  neighbours <- colSums(beta != 0)
  price <- log(nrow(x)) + 2 * gamma * log(ncol(x) - 1)
  row <- numeric(ncol(x))
  row[-v] <- beta[, which.min(neighbours * price - 2 * loglik)]
  row
}

invisible(choose(1))  # R compiles the function at its first calls
began <- proc.time()
regression <- t(sapply(seq_len(ncol(x)), choose))
edge <- regression != 0 & t(regression) != 0 & upper.tri(regression)
seconds <- proc.time() - began

place <- which(edge, arr.ind = TRUE)
edges <- data.frame(
  node_a = colnames(x)[place[, 1]], node_b = colnames(x)[place[, 2]],
  weight = ((regression + t(regression)) / 2)[edge]
)
write.csv(edges, arguments[2], row.names = FALSE)
cat(seconds[["user.self"]] + seconds[["sys.self"]], "\n")
