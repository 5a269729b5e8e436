# The shell of every job reads this first. The output of a job is its log. Descriptor 3 is where a
# person looks: the file whose lines `mnlearn study` shows while the run goes on, or the output of
# Snakemake.
{ exec 3>>"${MNLEARN_FAILURES:-}"; } 2>/dev/null || exec 3>&2
# Threads of a job are those Snakemake gives it, whatever library would like to start more.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
# The log can be on a full disk: the command then says so there.
export MNLEARN_ERRORS_DESCRIPTOR=3

mnlearn() {
    local status=0 log last=
    command mnlearn "$@" || status=$?
    # 130: an interrupt, which is no fault of the job.
    if [ "$status" -ne 0 ] && [ "$status" -ne 130 ]; then
        log=$(readlink /proc/self/fd/2) || log="its log"
        if [ -f "$log" ]; then
            # A job that is killed may have written nothing, and `grep` then fails.
            last=$(grep -v '^[[:space:]]*$' "$log" | tail -n 1 | cut -c -1000) || true
        fi
        last="failed with status $status, see ${log#"$PWD/"}: ${last#mnlearn: }"
        echo "$last" >&3 || true
    fi
    return "$status"
}
