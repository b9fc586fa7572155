# Runs as a service beside pingpost's, and says in lines of "what: value" how that one
# behaves under systemd.
health() { /usr/local/bin/pingpost health; }
sells() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		status=$(curl -s -o /run/answer -w '%{http_code}' http://127.0.0.1:8080/api/v1/ingest -H "x-api-key: $KEY" -H 'Content-Type: application/json' \
			-d '{"flo_campaign_id":"cmp_fixed","flo_supplier_id":"sup_acme","first_name":"Ann","last_name":"Lee","phone":"2125550123","email":"ann@example.com"}')
		[ "$status" != 429 ] || { sleep 0.2; continue; }
		break
	done
	echo "$1: $status"
}
KEY=$(sed -n 's/^KEY=//p' /etc/pingpost/env)

systemctl start pingpost; echo "start: $?"
health; echo "healthy after the start: $?"
sells 'sells'
pid=$(systemctl show -p MainPID --value pingpost)
sed -n 's/^\(NoNewPrivs\|Seccomp\|CapEff\|CapBnd\):[[:space:]]*/\1: /p' "/proc/$pid/status"
echo "user: $(stat -c %U "/proc/$pid")"
echo "root: $(awk '$5 == "/" {print substr($6, 1, 2)}' "/proc/$pid/mountinfo" | tail -n 1)"
echo "data: $(stat -c '%U %a' /var/lib/pingpost)"
systemctl reload pingpost; echo "reload: $?"
sed -i 's/price: 5/price: dear/' /etc/pingpost/pingpost.yaml
systemctl reload pingpost; echo "reload of a mistake: $?"
sed -i 's/price: dear/price: 5/' /etc/pingpost/pingpost.yaml
health; echo "healthy after a mistake: $?"
sells 'sells after a mistake'
systemctl restart pingpost; echo "restart: $?"
health; echo "healthy after the restart: $?"
systemctl kill -s KILL pingpost
for _ in $(seq 100); do sleep 0.2; health && break; done
health; echo "healthy after a kill: $?"
sells 'sells after a kill'
systemctl stop pingpost; echo "stop: $?"
echo "result: $(systemctl show -p Result --value pingpost), $(systemctl show -p ExecMainStatus --value pingpost)"
echo "backed up: $(ls /mnt/backup | wc -l)"
systemctl status --no-pager pingpost | tail -n 20
echo 'the trial is over'
