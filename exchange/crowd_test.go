package exchange

import (
	"net"
	"testing"

	"pingpost/internal/must"
)

// TestCrowd: who is one connection too many hears so in the interface's form,
// and whoever leaves makes room.
func TestCrowd(t *testing.T) {
	for name, limits := range map[string]string{
		"in all": "limits: {connections: 3}\n", "from one address": "limits: {max_conns_per_ip: 3}\n",
	} {
		t.Run(name, func(t *testing.T) {
			x := start(t, newPlace(t, recorded+limits))
			var kept []*wire
			for range 3 {
				w := dial(t, x.PublicAddress())
				w.say(post(lead(1)))
				w.next("POST").mustHave(t, 201)
				kept = append(kept, w)
			}
			for range 2 {
				w := dial(t, x.PublicAddress())
				w.next("POST").mustFail(t, 503, "unavailable")
				w.ends()
			}
			kept[0].Close()
			eventually(t, "there is room", func() bool {
				w := dial(t, x.PublicAddress())
				defer w.Close()
				w.say(post(lead(2)))
				return w.next("POST").status == 201
			})
			kept[1].say(post(lead(3)))
			kept[1].next("POST").mustHave(t, 201)
		})
	}
}

// TestResetIsNoTrouble: a client that goes away in the middle takes nothing with
// it.
func TestResetIsNoTrouble(t *testing.T) {
	x := start(t, newPlace(t, recorded+"limits: {max_conns_per_ip: 20}\n"))
	whole := post(lead(1))
	for i := range 60 {
		w := dial(t, x.PublicAddress())
		w.say(whole[:len(whole)*(i%10)/10])
		if tcp, ok := w.Conn.(*net.TCPConn); ok && i%2 == 0 {
			must.Succeed(t, tcp.SetLinger(0))
		}
		w.Close()
		eventually(t, "there is room", func() bool {
			v := dial(t, x.PublicAddress())
			defer v.Close()
			v.say(post("{"))
			return v.next("POST").status == 400
		})
	}
	if n := x.state.LeadCount(); n != 0 {
		t.Errorf("%d leads of half requests", n)
	}
}
