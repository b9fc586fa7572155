#!/bin/sh
# Measures the working tree against another revision and reports each benchmark that
# became slower or faster. `make bench-compare BASE=rev` runs it with the path of
# benchstat in $BENCHSTAT.
#
# It builds both sides first. Then the sides take turns, base and head, one round of one
# package at a time, so that a slowdown of the machine affects both. Only benchmarks that
# both sides have are compared. With --macro, loadtest/bench also measures the served
# exchanges against each other, as processes on separate cores.
#
# benchstat's Mann-Whitney test compares the samples, because it makes no assumption about
# their distribution. The p-values are judged together by the rule of Benjamini and
# Hochberg, so that about one in twenty of the reported differences is chance. A
# difference below --least is not reported.
#
# Rejected: a fixed percentage alone, which reports everything or nothing on a noisy
# machine; a separate test of each figure, which reports five false differences in a
# hundred figures.
#
# The samples remain in tmp/compare/base.txt and head.txt, in the format of benchstat.
set -eu

usage() {
	cat <<'HELP'
Usage: compare.sh --base REV [flags]
Reports which benchmarks are slower in the working tree than in another revision.

  --base REV      revision to compare the working tree with
  --count 8       rounds of each side; fewer than 6 cannot show a difference
  --bench .       expression of the benchmarks to run
  --pkg ./...     packages whose benchmarks run; may be repeated
  --time 200ms    duration of a benchmark in one round, or iterations, as 100x
  --no-micro      do not compare the packages' benchmarks
  --macro         compare the served exchanges too; takes some minutes more
  --least 0.03    smallest difference to report, as a share
  --strict        exit with 1 if a benchmark became slower
HELP
}

fail() { echo "compare: $*" >&2; exit 1; }

base= count=8 bench=. pkg= time=200ms micro=1 macro= least=0.03 strict=
while [ $# -gt 0 ]; do
	case $1 in
	--*=*) flag=${1%%=*}; value=${1#*=}; shift; set -- "$flag" "$value" "$@" ;;
	esac
	case $1 in
	--micro) micro=1; shift; continue ;;
	--no-micro) micro=; shift; continue ;;
	--macro) macro=1; shift; continue ;;
	--strict) strict=1; shift; continue ;;
	--help | -h) usage; exit 0 ;;
	esac
	[ $# -ge 2 ] || fail "unknown flag or missing value: $1; see --help"
	case $1 in
	--base) base=$2 ;;
	--count) count=$2 ;;
	--bench) bench=$2 ;;
	--pkg) pkg="$pkg $(echo "$2" | tr , ' ')" ;;
	--time) time=$2 ;;
	--least) least=$2 ;;
	*) fail "unknown flag $1; see --help" ;;
	esac
	shift 2
done
[ -n "$base" ] || fail 'name the revision with --base'
[ "$count" -ge 1 ] 2>/dev/null || fail '--count must be at least 1'
echo | grep -E -e "$bench" >/dev/null || [ $? -eq 1 ] || fail "--bench $bench is not a regular expression"

root=$(git rev-parse --show-toplevel) || fail 'run this inside the repository'
work=$root/tmp/compare
trap 'rm -rf "$work/base"' EXIT
trap 'exit 1' INT TERM
rm -rf "$work/base" && mkdir -p "$work/base"

# git archive, not git worktree: a killed run would leave a worktree in the repository.
git -C "$root" archive --format=tar --end-of-options "$base" >"$work/base.tar" || fail "cannot check out revision \"$base\""
tar -x -C "$work/base" -f "$work/base.tar" && rm "$work/base.tar"
: >"$work/base.txt"
: >"$work/head.txt"
tree() { if [ "$1" = base ]; then echo "$work/base"; else echo "$root"; fi; }

# benchmarks lists the benchmarks that a folder's tests declare.
benchmarks() { cat "$1"/*_test.go 2>/dev/null | sed -n 's/^func \(Benchmark[A-Za-z0-9_]*\)(.*/\1/p' | sort -u; }

packages= # those with wanted benchmarks on both sides
if [ -n "$micro" ]; then
	cd "$root"
	# shellcheck disable=SC2086 # a package list is several words
	for dir in $(go list -f '{{.Dir}}' ${pkg:-./...}); do
		name=${dir#"$root"}; name=${name#/}; name=${name:-.}
		benchmarks "$work/base/$name" >"$work/names"
		shared=$(benchmarks "$dir" | grep -E -e "$bench" | grep -Fx -f "$work/names" | paste -sd '|' -) || true
		[ -n "$shared" ] || continue
		file=$(echo "$name" | tr / -)
		for side in base head; do
			(cd "$(tree $side)" && go test -c -o "$work/$side-$file.test" "./$name") || fail "cannot build the tests of $name ($side)"
		done
		echo "^($shared)\$" >"$work/$file.names"
		packages="$packages $name"
	done
	[ -n "$packages" ] || fail "no package has a benchmark that matches $bench on both sides"
fi
round=1
while [ -n "$packages" ] && [ $round -le "$count" ]; do
	echo "compare: round $round of $count" >&2
	for name in $packages; do
		file=$(echo "$name" | tr / -)
		for side in base head; do
			echo "pkg: $name" >>"$work/$side.txt"
			(cd "$(tree $side)/$name" && "$work/$side-$file.test" -test.run='^$' -test.bench="$(cat "$work/$file.names")" \
				-test.benchtime="$time" -test.benchmem -test.count=1) >"$work/out.txt" 2>&1 ||
				{ cat "$work/out.txt" >&2; fail "the benchmarks of $name ($side) failed"; }
			cat "$work/out.txt" >>"$work/$side.txt"
		done
	done
	round=$((round + 1))
done
if [ -n "$macro" ]; then
	(cd "$work/base" && go build -trimpath -o "$work/base-pingpost" ./cmd/pingpost)
	(cd "$root" && go build -o "$work/bench" ./loadtest/bench &&
		"$work/bench" --against "$work/base-pingpost" --runs "$count" --samples "$work/served-head.txt" --their-samples "$work/served-base.txt" >&2)
	for side in base head; do
		{ echo 'pkg: served'; cat "$work/served-$side.txt"; } >>"$work/$side.txt"
	done
fi

# One line for each figure of both sides: p-value, package, benchmark, unit, both medians,
# change as a share. More is better for rates, and less for all other units.
cd "$work"
"$BENCHSTAT" -format csv -alpha 1 base.txt head.txt 2>/dev/null | awk -F, -v OFS='\t' '
	/^pkg: / { pkg = substr($0, 6); next }
	$1 == "" && $NF == "P" { unit = $2; next }
	$NF ~ /^p=/ {
		p = substr($NF, 3) + 0
		before = $(NF - 5); after = $(NF - 3)
		change = before == 0 ? (after == 0 ? 0 : 9.99) : after / before - 1
		print p, pkg, $1, unit, before, after, change
	}' | sort -k1,1g -s >figures.txt
[ -s figures.txt ] || fail 'the sides have no measured figure in common'
"$BENCHSTAT" base.txt head.txt
awk -F'\t' -v least="$least" -v base="$base" -v strict="$strict" '
	{ line[NR] = $0; p[NR] = $1; change[NR] = $7; rate[NR] = $4 ~ /\/s$/ }
	END {
		for (k = 1; k <= NR; k++) if (p[k] <= 0.05 * k / NR) last = k
		for (k = 1; k <= last; k++) {
			if (change[k] < least && change[k] > -least) continue
			verdict = (change[k] > 0) == rate[k] ? "faster" : "slower"
			n[verdict]++
			split(line[k], f, "\t")
			list[verdict] = list[verdict] sprintf("%s  %s  %s  %s: %g to %g, %+.1f %%, p %.3f\n", verdict, f[2], f[3], f[4], f[5], f[6], 100 * f[7], f[1])
		}
		printf "\nThe working tree against %s: %d figures: %d slower, %d faster, %d without a difference.\n\n%s%s",
			base, NR, n["slower"], n["faster"], NR - n["slower"] - n["faster"], list["slower"], list["faster"]
		exit strict && n["slower"] > 0
	}' figures.txt
