#!/usr/bin/env bash
# Runs an exchange as a cluster of three nodes on this machine, with a buyer, and sends leads until Ctrl-C.
# A node that you kill starts again after five seconds.
#
#   --once     kills the leader while leads arrive, ends after 12 batches of leads, and compares the sold leads with
#              those that the buyer counted. Exit code 0: all were sold, each once.
#
# Variables: PINGPOST, the program (pingpost); DIR, a new folder for data and logs (data/cluster-TIME);
# PORT, the first of ten free ports of 127.0.0.1 (8101).
set -euo pipefail

program=${PINGPOST:-pingpost} dir=${DIR:-data/cluster-$(date +%Y%m%d-%H%M%S)} port=${PORT:-8101} once=${1:-}
example=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nodes=(a b c) pids=(0 0 0) buyer=0

random() { head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
PINGPOST_ADMIN_PASSWORD=$(random) PINGPOST_API_KEY=$(random) PINGPOST_BUYER_TOKEN=$(random)
A_PORT=$((port + 6)) B_PORT=$((port + 7)) C_PORT=$((port + 8)) BUYER_PORT=$((port + 9))
export PINGPOST_ADMIN_PASSWORD PINGPOST_API_KEY PINGPOST_BUYER_TOKEN A_PORT B_PORT C_PORT BUYER_PORT

leads_url() { echo "http://127.0.0.1:$((port + $1))"; }
admin_url() { echo "http://127.0.0.1:$((port + 3 + $1))"; }

# run_node NUMBER COMMAND…: runs a command of the program with the variables of a node.
run_node() {
	local number=$1
	shift
	NODE=${nodes[number]} LEADS_PORT=$((port + number)) ADMIN_PORT=$((port + 3 + number)) NODE_PORT=$((port + 6 + number)) \
		exec "$program" "$@" -c "$dir/node.yaml"
}

start_node() {
	run_node "$1" serve 2>>"$dir/${nodes[$1]}.log" &
	pids[$1]=$!
	echo $! >"$dir/${nodes[$1]}.pid"
}

stop() {
	trap - EXIT
	kill "${pids[@]/#0/$$0}" "$buyer" 2>/dev/null || true
	wait
}

fail() {
	echo "cluster: $1; the logs are in $dir" >&2
	exit 1
}

# wait_for SECONDS COMMAND…: waits until a command succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || fail "this does not succeed: $*"
		sleep 0.1
	done
}

# find_leader sets leader to the number of the node that leads, or fails.
find_leader() {
	for leader in 0 1 2; do
		! curl -s --max-time 1 "$(admin_url "$leader")/metrics" | grep '^pingpost_cluster_leader 1$' >/dev/null || return 0
	done
	return 1
}

# find_ready sets ready to a node that accepts requests, as a load balancer finds it, or fails. It tries the
# nodes in turn.
find_ready() {
	local i
	for i in 0 1 2; do
		ready=$(((batch + i) % 3))
		! curl -sf --max-time 1 "$(admin_url "$ready")/readyz" >/dev/null || return 0
	done
	return 1
}

# send_batch sends 25 new leads in a second and adds the sold ones to sold. With an argument, it kills the
# leader while the leads arrive. It sends leads without an answer again to the next node that is ready. All
# requests of a lead have the same Idempotency-Key.
send_batch() {
	local i try sender kill_leader=${1:-}
	for i in $(seq 25); do
		printf '{"campaign_id": "cmp_auto", "supplier_id": "sup_acme", "first_name": "Ann", "last_name": "Lee", "phone": "(415) 555-0132", "email": "ann-%d-%d@example.com", "state": "CA"}\n' "$batch" "$i"
	done >"$dir/leads.ndjson"
	for try in 1 2 3 4; do
		wait_for 20 find_ready
		find_ready
		"$program" send "$dir/leads.ndjson" --to "$(leads_url "$ready")" --rate 25 --out "$dir/answers.ndjson" >"$dir/send.log" 2>&1 &
		sender=$!
		if [ -n "$kill_leader" ]; then
			kill_leader=
			sleep 0.5
			wait_for 20 find_leader
			find_leader
			kill -9 "${pids[leader]}"
			echo "killed node ${nodes[leader]}, the leader"
		fi
		while kill -0 "$sender" 2>/dev/null; do
			restart_lost
			sleep 0.1
		done
		! wait "$sender" || break
		[ "$try" -lt 4 ] || fail "some leads have no answer"
	done
	sold=$((sold + $(grep -c '"status":"ACCEPTED"' "$dir/answers.ndjson" || true)))
}

# restart_lost starts nodes that ended five seconds ago.
lost=(0 0 0)
restart_lost() {
	local i
	for i in 0 1 2; do
		if kill -0 "${pids[$i]}" 2>/dev/null; then
			lost[i]=0
		elif [ "${lost[i]}" -eq 0 ]; then
			lost[i]=$SECONDS
			echo "node ${nodes[$i]} has ended; it starts again in five seconds"
		elif [ $((SECONDS - lost[i])) -ge 5 ]; then
			start_node "$i"
			echo "node ${nodes[$i]} starts again"
		fi
	done
}

counted() { curl -sf "http://127.0.0.1:$BUYER_PORT/stats" | grep -o "\"$1\":[0-9]*" | cut -d: -f2; }
buyer_has_all() { [ "$(counted accepted)" = "$sold" ]; }

mkdir -p "$(dirname "$dir")"
mkdir "$dir"
dir=$(cd "$dir" && pwd)
cp "$example/node.yaml" "$dir/"
trap stop EXIT
trap 'exit 0' INT TERM

"$program" buyer --listen "127.0.0.1:$BUYER_PORT" --token "$PINGPOST_BUYER_TOKEN" >"$dir/buyer.log" 2>&1 &
buyer=$!
(run_node 0 cluster init) >"$dir/init.log" 2>&1 || fail "cannot begin the cluster: $(cat "$dir/init.log")"
start_node 0
wait_for 20 find_leader
for i in 1 2; do
	mkdir -m 700 "$dir/${nodes[$i]}" "$dir/${nodes[$i]}/keys"
	cp "$dir/a/keys/exchange.key" "$dir/${nodes[$i]}/keys/"
	start_node "$i"
done
wait_for 20 "$program" cluster --admin "$(admin_url 0)" # it exits 0 when all nodes answer
for i in 1 2; do
	"$program" cluster add "${nodes[$i]}" --admin "$(admin_url 0)" >/dev/null
done

echo "A cluster of three nodes. Sign in to a console with any user name and the password $PINGPOST_ADMIN_PASSWORD"
for i in 0 1 2; do
	echo "  ${nodes[$i]}  leads $(leads_url "$i")  console $(admin_url "$i")/  end it: kill -9 \$(cat $dir/${nodes[$i]}.pid)"
done
echo "Ctrl-C ends all."

sold=0
for ((batch = 1; ; batch++)); do
	restart_lost
	if [ "$once" = --once ] && [ "$batch" -eq 4 ]; then
		send_batch and-kill-the-leader
	else
		send_batch
	fi
	if find_leader; then name=${nodes[leader]}; else name=-; fi
	echo "$(date +%T)  leader $name  25 leads to node ${nodes[ready]}, $sold sold in all"
	[ "$once" = --once ] && [ "$batch" -ge 12 ] && break
done

wait_for 20 "$program" cluster --admin "$(admin_url "$leader")"
"$program" cluster --admin "$(admin_url "$leader")"
wait_for 20 buyer_has_all
echo "sold $sold of $((25 * batch)) leads; the buyer counted $(counted accepted), and $(counted double_sold) sold twice"
if [ "$sold" -ne $((25 * batch)) ] || [ "$(counted double_sold)" != 0 ]; then
	fail "the counts differ"
fi
