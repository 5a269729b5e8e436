"""Lines that commands refuse, and what their sentences say."""

import pytest

from command import refuse

pytestmark = pytest.mark.usefixtures("folder")

# A line, and a part of the sentence that it ends with. Readers of files have tests of their own:
# here it is asked whether a command checks what it is given.
REFUSED = """
fit dtsl --train no.data --out a.npz | no.data: no such file
fit dtsl --train fractions --out a.npz | fractions, line 2, column 2: '0.5' is a fr
fit dtsl --train d.data --valid no --grid grid.yaml --out a.npz | no: no such file
fit dtsl --train d.data --out a.xyz | a.xyz: expected a model file
fit nope --train d.data --out a.npz | method nope: expected one of acbn, acmn, atomic
fit atomic --train d.data --out file/a.npz | file/a.npz: cannot be written
fit dtsl --train d.data --out a.npz --set kappa | --set kappa
fit dtsl --train d.data --out a.npz --set kapa=1 | parameter kapa
fit dtsl --train d.data --out a.npz --set kappa=x | parameter kappa
fit dtsl --train d.data --out a.npz --set kappa=none | parameter kappa
fit dtsl --train d.data --out a.npz --set sd=-1 | sd: expected a number above 0
fit dtsl --train d.data --out a.npz --set max_iterations=1.5 | max_iterations
fit atomic --train d.data --out a.npz --set pseudocount=nan | pseudocount
fit dtsl --train d.data --out a.npz --grid grid.yaml | --grid: expected --valid
fit dtsl --train d.data --out a.npz --grid no.yaml | no.yaml: no such file
fit dtsl --train d.data --out a.npz --grid list.yaml | list.yaml: expected
fit dtsl --train d.data --out a.npz --grid none.yaml | parameter kappa
fit dtsl --train d.data --out a.npz --grid broken.yaml | broken.yaml, line
fit dtsl --train d.data --out a.npz --grid infinite.yaml | parameter max_iterations
fit atomic --train d.data --valid d5.data --out a.npz | d5.data
fit atomic --train d.data --out a.npz --trace file/t.csv | file/t.csv: cannot be written
fit chowlou --train d.data --out a.npz | did you mean chow_liu.
fit gssl --train d.data --seed 99999999999999999999 --out a.npz | --seed: expected 0 to
fit atomic --train d.data --out a.npz --trace ./a.npz | a.npz: two outputs of this command
fit lw --train d.data --out a.npz | to build on; --network FILE names one
fit dtsl --train d.data --ones a=1 --out a.npz | --ones is gone since version 1.0: a column
compile atomic judge | METHOD: expected some of acbn
convert m.npz - | -: expected the form of what is written, such as -.bif.
fit dn2mn --train d.data --network m.npz --out a.npz
  | m.npz: expected a dependency network, the file holds a Markov network.
convert m.npz a.foo | a.foo: expected a model file
convert m.npz a.dn | a.dn: a .dn file holds
convert dn.npz a.mn | a.mn: a .mn file holds
convert m.npz file/a.mn | file/a.mn: cannot be written
convert d.data file/a.npz | file/a.npz: cannot be written
convert d.data a.mn | a.mn
convert d.data a.pdf | a.pdf
convert d.data a.npz --given evidence | --given: is not read for d.data, which holds
convert d.npz a.csv --given evidence | --given: is not read for d.npz, which holds
convert m.npz a.mn --cut 2 | --cut: is not read for m.npz, which is a model
convert m.npz a.mn --missing drop | --missing: is not read for m.npz, which is a model
convert d.npz a.csv --max-expanded 1e-7 | --max-expanded raises the limit
info no.mn | no.mn: no such file
info d.npz | d.npz: expected a model
info file | file: expected a model file
info no.graphml | no.graphml: .graphml files of models can only be written
query m.npz --evidence no | no: no such file
query m.npz --evidence empty | empty: holds no evidence
query m.npz --evidence evidence5 | evidence5, line 1: expected 6 values
query m.npz --evidence evidence3 | evidence3, line 2
query m.npz --evidence evidence --samples 0 | --samples
query m.npz --evidence evidence --burn-in -1 | --burn-in
query m.npz --evidence evidence --out file/q.csv | file/q.csv: cannot be written
query m.npz --evidence evidence_first | evidence_first, line 1
sample m.npz --rows 5 --out file/s.data | file/s.data: cannot be written
sample m.npz --rows 5 --out s.npz | s.npz
sample dn.npz --rows 5 --out s.data --burn-in -3 | --burn-in
sample m.npz --rows 5 --out s.data --evidence evidence | expected one row of evidence
sample m.npz --rows 5 --out s.data --evidence V0=2 | --evidence
score m.npz m.npz | m.npz: expected a dataset
score m.npz d.data --per-example file/p.csv | file/p.csv: cannot be written
score m.npz d.data --metric cmll --samples 0 | --samples
score m.npz d.data --metric cmll --burn-in -5 | --burn-in
score m.npz d.data --metric cmll --groups no.json | no.json: no such file
score m.npz d.data --metric cmll --groups broken.json | broken.json, line 1
score m.npz d.data --metric cll --groups range.json
  | range.json: expected a name or a number from 0 to 5, got 9
score m.npz d.data --metric cmll --folds 0 | --folds
score m.npz d.data --folds 2 | --folds: is not read by the metric pll
score m.npz d.data --samples 9 | --samples: is not read by the metric pll
score m.npz d.data --metric pll --ais 200 | --ais: expected --metric ll
score m.npz d.data --metric ll --inference mcsat
  | --inference: expected one of exact, bp, meanfield, --ais for the metric ll, got
score m.npz d.data --metric ll --ais 2 --burn-in 3
  | --burn-in: is not read by the metric ll with inference ais, which reads --inference, --ais, --sa
score m.npz d.data --metric cll --folds 2 --groups groups.json
  | --folds: expected none with --groups
score m.npz d.data --metric cmll --groups flat.json
  | flat.json: expected lists of variables, at least one in each, got [1, 2]
score m.npz d.data --metric cmll --groups letters.json
  | letters.json: there is no variable 'a'; the first names are 'V0', 'V1'
score m.npz d.data --metric cmll --groups twice.json
  | twice.json: the variable 'V1' is twice in one group
weights dn.npz d.data --out w.npz | dn.npz: expected a model with a joint
weights m.npz d5.data --out w.npz | d5.data:
weights m.npz fractions --out w.npz | fractions
weights m.npz d.data --out w.xyz | w.xyz:
weights m.npz d.data --out m.npz | m.npz
weights m.npz d.data --out w.npz --sd 0 | --sd
nope | nope
fit | METHOD
fit dtsl --train d.data | --out
fit dtsl --train d.data --out folder | folder
fit dtsl --train d.data --out a.npz --seed x | --seed
fit dtsl --train d.data --out a.npz --threads 0 | --threads
fit dtsl --train d.data --out a.npz --speed 3 | --speed
score m.npz d.data --metric f1 | --metric
score m.npz d.data --seed -1 | Invalid value for '--seed': -1 is not in the range x>=0
score m.npz d.data extra | extra
query m.npz --evidence | --evidence
sample m.npz --rows 0 --out s.data | --rows
datasets --folder file | file
step record | JOB
step products dtsl | --out
step products zzz --out o.json | study zzz: expected one of acmn, demo
step products demo --config 3 --out o.json | --config: expected a JSON object
step products demo --config '{' --out o.json | --config: is not JSON
step write dtsl poems | poems
step write zzz tables | study zzz: expected one of acmn, demo
step write dtsl tables | nowhere/dtsl/scores.csv
step write dtsl page | nowhere/dtsl/scores.csv
step write dtsl page --only a | --only: is not read for page, only for tables and
step write dtsl claims --only a | --only: is not read for claims, only for tables and
fetch nltc | no dataset 'nltc'; did you mean 'nltcs'?
fetch nltcs zzz --mirror folder | no dataset 'zzz'
study zzz | study zzz: expected one of acmn, demo
study zzz --stale | study zzz: expected one of acmn, demo
study dtsl --datasets zzz | --datasets zzz: expected some of nltcs
study dtsl --stale --datasets zzz | --datasets zzz: expected some of nltcs
study dtsl --dry-run --recorded | --recorded: is not read with --dry-run.
study dtsl --stale --again | --again: is not read with --stale.
study dtsl --stale --profile nosuch | --profile: is not read with --stale.
study dtsl --show --again | --again: is not read with --show.
study dtsl --show --stale | --stale: is not read with --show.
study dtsl --unlock --datasets nltcs | --datasets: is not read with --unlock.
study dtsl --recorded --parts 2 | --parts: is not read with --recorded.
study dtsl --parts 0 | Invalid value for '--parts': 0 is not in the range 1<=x<=1000
study dtsl --parts 1e9 | Invalid value for '--parts': '1e9' is not a valid integer
study dtsl --parts '$(touch hit)' | '$(touch hit)' is not a valid integer
study dtsl --cores abc | --cores: expected a number from 1, or all, got 'abc'
study dtsl --cores 0 | --cores
"""
ROWS = REFUSED.strip().replace("\n  |", " |").splitlines()


@pytest.mark.parametrize(("line", "names"), [row.split(" | ") for row in ROWS])
def test_a_command_refuses(line, names, monkeypatch):
    # A command must not write into the checkout.
    monkeypatch.setattr("mnlearn_studies.study.folders.RESULTS", "nowhere")
    refuse(line, names)
