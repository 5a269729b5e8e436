# Computes the values of ising_glmnet.json with R's glmnet, as R's IsingFit would find them.
#
# It was written from the published description: van Borkulo et al., "A new method for constructing
# networks from binary data", Scientific Reports, 2014. Each item is regressed on all others with
# glmnet's path of penalties, and the least EBIC chooses the penalty.
#
#   python tests/made_questionnaires.py FOLDER    writes the data
#   Rscript tests/learning/ising_glmnet.R FOLDER > tests/learning/ising_glmnet.json
suppressMessages(library(glmnet))
folder <- commandArgs(trailingOnly = TRUE)[1]

numbers <- function(x) {
  text <- sprintf("%.10g", x)
  paste0("[", paste(ifelse(text == "-0", "0", text), collapse = ", "), "]")
}

regressions <- function(x, gamma, thresh) {
  n <- nrow(x)
  p <- ncol(x)
  found <- list()
  for (v in seq_len(p)) {
    path <- glmnet(x[, -v], x[, v], family = "binomial", thresh = thresh, maxit = 1e8)
    beta <- as.matrix(path$beta)
    odds <- sweep(x[, -v] %*% beta, 2, path$a0, "+")
    loglik <- colSums(x[, v] * odds - pmax(odds, 0) - log1p(exp(-abs(odds))))
    k <- colSums(beta != 0)
    ebic <- -2 * loglik + k * log(n) + 2 * gamma * k * log(p - 1)
    best <- which.min(ebic)
    row <- numeric(p)
    row[-v] <- beta[, best]
    found[[v]] <- list(
      n = length(path$lambda), first = path$lambda[1], last = tail(path$lambda, 1),
      chosen = path$lambda[best], intercept = path$a0[[best]], row = row
    )
  }
  found
}

cat("{\"glmnet\": \"", as.character(packageVersion("glmnet")), "\", \"R\": \"",
    R.version$major, ".", R.version$minor, "\", \"cases\": [", sep = "")
first <- TRUE
for (file in sort(list.files(folder, "\\.csv$"))) {
  x <- as.matrix(read.csv(file.path(folder, file)))
  # glmnet refuses an outcome with fewer than two answers of one kind; IsingFit leaves it out.
  kept <- which(apply(x, 2, function(column) min(sum(column == 1), sum(column == 0)) >= 2))
  for (thresh in c(1e-7, 1e-15)) {
    for (gamma in c(0.25, 0)) {
      if (gamma == 0 && thresh == 1e-15) next
      found <- regressions(x[, kept], gamma, thresh)
      pick <- function(name) numbers(sapply(found, function(one) one[[name]]))
      rows <- sapply(found, function(one) numbers(one$row))
      if (!first) cat(",")
      first <- FALSE
      cat("\n{\"data\": \"", sub("\\.csv$", "", file), "\", \"thresh\": ", thresh,
          ", \"gamma\": ", gamma, ", \"kept\": ", numbers(kept - 1),
          ",\n\"n_penalties\": ", pick("n"), ",\n\"first\": ", pick("first"),
          ",\n\"last\": ", pick("last"), ",\n\"chosen\": ", pick("chosen"),
          ",\n\"intercept\": ", pick("intercept"),
          ",\n\"regression\": [", paste(rows, collapse = ",\n"), "]}", sep = "")
    }
  }
}
cat("\n]}\n")
