#!/usr/bin/env bash
# One night of growing a dataset: judge what is new, pair it, pass the gate, append, prove the history.
#
#   NIGHTLY_SOURCE  questions and answers: a file, a folder or a Hub dataset id
#   NIGHTLY_TARGET  the dataset that grows: user/repo, or ./folder
#   NIGHTLY_STATE   folder that is kept from night to night: the journal is in it, and with it all that was paid for
#   NIGHTLY_POLICY  the policy file; it holds the budget (max_usd), the patience (max_wait) and every decision
#   NIGHTLY_JUDGE   claude (default) or another judge
#   HF_TOKEN, ANTHROPIC_API_KEY  from the environment, as the Hub's and the judge's clients read them; never an option
#
# Ends with 0 if all is done; 1 if something is left that the next night does or a person has to decide; 2 if the
# command or the policy is wrong; 130 if it was interrupted. It can be run again at any time: answers that were judged
# are not judged again, rows that are there are not sent again, and no stage destroys what an earlier one made.
set -uo pipefail

for name in NIGHTLY_SOURCE NIGHTLY_TARGET NIGHTLY_STATE NIGHTLY_POLICY; do
    if [ -z "${!name:-}" ]; then
        echo "nightly: $name is not set; the head of $0 says what it is" >&2
        exit 2
    fi
done
mkdir -p "$NIGHTLY_STATE" || exit 1
journal="$NIGHTLY_STATE/verdicts.jsonl"
rows="$NIGHTLY_STATE/rows.jsonl"

# two nights at once would pay twice
exec 9>"$NIGHTLY_STATE/lock"
if ! flock --nonblock 9; then
    echo "nightly: the night before is still at it; nothing was done" >&2
    exit 1
fi

# Runs one stage. 0 and 1 are for the caller to judge; with any other code going on makes no sense.
stage() {
    echo "nightly: $1"
    hf-kokoro "$@"
    local code=$?
    if [ "$code" -gt 1 ]; then
        echo "nightly: $1 ended with $code" >&2
        exit "$code"
    fi
    return "$code"
}

left=0
# 1: the budget is spent, or the service was busy; questions whose answers are all scored go on tonight
stage judge --source "$NIGHTLY_SOURCE" --judge "${NIGHTLY_JUDGE:-claude}" --journal "$journal" \
    --policy "$NIGHTLY_POLICY" || left=1
if [ ! -s "$journal" ]; then
    echo "nightly: no verdict yet, so nothing to append"
    exit "$left"
fi
stage pair --journal "$journal" --out "$rows" --policy "$NIGHTLY_POLICY" || exit 1
# 1: the Hub is away, or texts may point to people; the rows lie in the state, and the next night sends them
stage append "$rows" --to "$NIGHTLY_TARGET" --policy "$NIGHTLY_POLICY" || exit 1
stage audit "$NIGHTLY_TARGET" || exit 1
exit "$left"
