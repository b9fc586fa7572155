package sim
import ("testing")
const simple = `
supplier acme hooks=yes
buyer blue posts=yes pings=yes funds=100 caps=count:day:5@America/New_York
buyer gold
campaign auto waterfall share=0.8 duplicates=720h
seat auto blue price=10 priority=0
seat auto gold price=9 priority=1
begin at=2026-03-07T10:00:00Z
+1m lead #1 acme auto phone=1 email=1 state=CA key=k1
+1m resend #1 #2
+1m report blue #1 contacted key=r1
+1m answers blue hang
+1m lead #3 acme auto phone=3 email=3 state=CA
+1m lead #4 acme auto phone=3 email=4 state=CA
+1s crash
+1m answers blue refuse in=100ms
+1m lead #5 acme auto phone=5 email=5 state=CA dies=1
+1m snapshot
+1m report blue #1 returned key=r2 reason=bad
+10m crash
`
func TestTmp(t *testing.T) {
	h, err := parseHistory(simple)
	if err != nil { t.Fatal(err) }
	f, span := run(t, h)
	t.Log(f, span)
	if f != "" { t.Fail() }
}
