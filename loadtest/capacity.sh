#!/bin/sh
# Computes the load that one node carries from the last full `make bench` (BENCHMARKS.json),
# and writes the section of docs/benchmarks.md between its marks. `make capacity` runs it.
# --print prints the section instead. --figures FILE and --readme FILE name other files.
#
# The exchange has handlers, which use all cores, and one committer, which does not scale
# with cores. A node of n cores carries the least of these:
#
#   - processors: n cores over the processor time of a lead, the committer's included;
#   - committer: the entries that it writes, fsyncs and applies alone;
#   - disk: bytes written a second over twice a lead's bytes in the log, because snapshots
#     write them again;
#   - network: bandwidth over the bytes of a lead's requests and answers.
#
# Memory limits the leads held, not their rate: a lead stays in memory as long as its
# idempotency key and its duplicate window.
#
# The benchmark measures a lead's time on one core of its machine. The model assumes the
# same time on each of n cores. The assumptions in BEGIN are not measured either.
set -eu
fail() { echo "capacity: $*" >&2; exit 1; }

figures=BENCHMARKS.json readme=docs/benchmarks.md print=
while [ $# -gt 0 ]; do
	case $1 in
	--print) print=1; shift ;;
	--figures) figures=${2:?}; shift 2 ;;
	--readme) readme=${2:?}; shift 2 ;;
	*) fail "unknown flag $1; give --print, --figures FILE or --readme FILE" ;;
	esac
done
[ -r "$figures" ] || fail "cannot read $figures; run make bench first, without --quick and --only"
section=$(mktemp)
trap 'rm -f "$section"' EXIT

# BENCHMARKS.json has one member in each line.
awk '
	BEGIN {
		use = 0.8              # share of each resource that the estimates use
		disk = 200e6           # bytes written a second
		rewritten = 2          # times that a byte of the log is written, snapshots included
		network = 10e9         # bits a second, each way
		core_memory = 4e9      # bytes of memory for each core
		memory_days = 30       # that a lead stays in memory
		log_days = 45          # that the log stays on disk
		core_hour = 0.04       # USD for a core
		giga_month = 0.10      # USD for a gigabyte of disk
		lead = 1100            # bytes of a lead on the network, headers included
		post = 1200            # bytes of a post to a buyer
		ping = 900             # bytes of a seller'\''s ping, and of each buyer'\''s
		split("2 8 32", cores, " ")
	}
	/"Processor: / { machine = $0; gsub(/^ *"|",?$/, "", machine) }
	/^ *"[a-z0-9_]+": [0-9.e+-]+,?$/ { name = $1; gsub(/[":]/, "", name); value[name] = $2 + 0 }

	# measured returns a figure of the benchmark.
	function measured(name) {
		if (value[name] <= 0) missing = missing (missing ? ", " : "") name
		return value[name]
	}
	# rounded returns two significant digits with grouped thousands. More digits would claim
	# more than the model knows.
	function rounded(x, unit, digits, i) {
		if (x < 10) return sprintf("%.1f", x)
		for (unit = 1; x / unit >= 100; unit *= 10) ;
		digits = sprintf("%.0f", sprintf("%.0f", x / unit) * unit)
		for (i = length(digits) - 3; i > 0; i -= 3) digits = substr(digits, 1, i) "," substr(digits, i + 1)
		return digits
	}
	# add adds a kind of lead: processor microseconds, log entries, bytes in the log and on the network.
	function add(title, micros, entries, log_bytes, net_bytes) {
		kind[++kinds] = title
		time[kinds] = micros; commits[kinds] = entries; logged[kinds] = log_bytes; sent[kinds] = net_bytes
	}
	function limit_by(resource, rate) { if (use * rate < least) { least = use * rate; limit = resource } }
	# leads_a_second returns the rate that a node of n cores carries, and sets limit.
	function leads_a_second(k, n) {
		least = 1e300
		limit_by("the processors", n * 1e6 / time[k])
		limit_by("the committer", committer / commits[k])
		limit_by("the disk", disk / (rewritten * logged[k]))
		limit_by("the network", network / 8 / sent[k])
		return least
	}

	END {
		committer = measured("committer_leads"); memory = measured("memory_bytes")
		add("leads recorded alone", measured("ingest_us_64"), 1, measured("ingest_log_bytes"), lead)
		add("leads posted to a buyer", measured("posted_us"), 2, measured("posted_log_bytes"), lead + post)
		add("auctions of 1 buyer", measured("auction_us_1"), 1, measured("auction_log_bytes_1"), 2 * ping)
		add("auctions of 8 buyers", measured("auction_us_8"), 1, measured("auction_log_bytes_8"), 9 * ping)
		if (missing) {
			print "capacity: the benchmark has no " missing "; run make bench without --quick and --only" >"/dev/stderr"
			exit 1
		}
		print "Computed by `make capacity` from the last `make bench` (" machine ").\n"
		print "| a second, on one node of | 2 cores | 8 cores | 32 cores | limit at 32 cores |\n|---|---|---|---|---|"
		for (k = 1; k <= kinds; k++) {
			printf "| %s |", kind[k]
			for (c = 1; c <= 3; c++) printf " %s |", rounded(leads_a_second(k, cores[c]))
			print " " limit " |"
		}
		printf "| leads held in memory |"
		for (c = 1; c <= 3; c++) {
			held = use * core_memory * cores[c] / memory
			printf " %s million, %s a second for %d days |", rounded(held / 1e6), rounded(held / (memory_days * 24 * 3600)), memory_days
		}
		print " |\n\n| a million | core seconds | log | memory | USD |\n|---|---|---|---|---|"
		for (k = 1; k <= kinds; k++) {
			dollars = time[k] / use / 3600 * core_hour + logged[k] * 1e6 / 1e9 * giga_month * log_days / 30
			printf "| %s | %.0f | %.2f GB | %.2f GB | %.3f |\n", kind[k], time[k], logged[k] / 1e3, memory / 1e3, dollars
		}
		printf "\nThe benchmark measures the processor time and log bytes of each kind of lead, and the\n"
		printf "memory of a lead (%.0f bytes). It also measures the committer, the one goroutine that writes\n", memory
		printf "the log: alone, it writes %s entries a second. The other figures are assumptions;\n", rounded(committer)
		printf "replace them with your own. A lead takes the same processor time on any number of cores.\n"
		printf "A disk writes %.0f MB a second, and writes each byte of the log %d times because of the\n", disk / 1e6, rewritten
		printf "snapshots. The network has %.0f Gbit, and each core has %.0f GB of memory. A core hour costs\n", network / 1e9, core_memory / 1e9
		printf "%.2f USD, and a gigabyte of disk costs %.2f USD a month. The log covers %d days. The\n", core_hour, giga_month, log_days
		printf "estimates use %.0f %% of each resource. An exchange has only one committer on any number of\n", 100 * use
		print "cores. For more leads than the committer can write, run a second exchange with its own\nlog for other campaigns or other suppliers."
	}' "$figures" >"$section"

if [ -n "$print" ]; then
	cat "$section"
	exit
fi
begin='<!-- capacity: begin, written by make capacity -->' end='<!-- capacity: end -->'
grep -Fqx -e "$begin" "$readme" && grep -Fqx -e "$end" "$readme" || fail "$readme: the section's marks are missing: $begin and $end"
awk -v begin="$begin" -v end="$end" -v section="$section" '
	$0 == end { skipping = 0; print "" }
	!skipping { print }
	$0 == begin { skipping = 1; print ""; while ((getline line <section) > 0) print line }
' "$readme" >"$section.new" && cat "$section.new" >"$readme" && rm "$section.new"
