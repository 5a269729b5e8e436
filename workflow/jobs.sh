# The shell of every job reads this first. Descriptor 3 is the output of Snakemake; that of the job
# is its log. A person sees the line about a job that failed, and not the output of Snakemake.
exec 3>&2
# The log can be on a full disk: the command then says so in the output of Snakemake.
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
        echo "$last" >&3
        # `mnlearn study` shows the lines of this file while the run goes on.
        if [ -n "${MNLEARN_FAILURES:-}" ]; then
            echo "$last" >>"$MNLEARN_FAILURES" || true
        fi
    fi
    return "$status"
}
