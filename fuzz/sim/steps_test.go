package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nextStep returns the next step.
func (g *generator) nextStep() line {
	switch n := g.IntN(1000); {
	case n < 440:
		return g.lead()
	case n < 460:
		return g.erasureStep()
	case n < 540:
		return g.repeatStep()
	case n < 640:
		return g.report()
	case n < 700:
		return g.auctionStep()
	case n < 750:
		return g.saleStep()
	case n < 830:
		return g.conductStep()
	case n < 850:
		return step("decide", g.pickRecent(g.leads)+" "+g.pickWord("approve", "refuse"))
	case n < 865:
		return g.resolveStep()
	case n < 900:
		kind, name := "campaign", g.pickRecent(g.campaigns)
		if g.IntN(2) == 0 {
			kind, name = "buyer", g.pickRecent(g.buyers)
		}
		g.next++
		shut := step("pause", kind+" "+name)
		g.add(shut)
		g.add(g.lead())
		return step("resume", kind+" "+name)
	case n < 920:
		return step("topup", g.pickRecent(g.buyers), "by", g.dollars(5, 90))
	case n < 945:
		return g.changeStep()
	case n < 960:
		return step("snapshot", "")
	case n < 975:
		return step("crash", "", "for", g.downtime(), "plain", g.pickWord("", "yes"), "keys", g.pickWord("", "older"))
	case n < 985:
		return step("restart", "", "for", g.downtime(), "plain", g.pickWord("", "yes"), "keys", g.pickWord("", "older"))
	case n < 990:
		return step("tellagain", "acme")
	}
	return step("list", "dnc", "persons", strings.Join([]string{"7", strconv.Itoa(g.IntN(30)), strconv.Itoa(g.IntN(30))}, ","))
}

// erasureStep returns an erasure.
func (g *generator) erasureStep() line {
	person := strconv.Itoa(g.IntN(40))
	if g.IntN(2) == 0 {
		person = strconv.Itoa(max(0, g.next-g.IntN(6)))
	}
	switch g.IntN(3) {
	case 0:
		return g.maybeDying(step("erase", "", "phone", person))
	case 1:
		return g.maybeDying(step("erase", "", "email", person))
	}
	return g.maybeDying(step("erase", "", "lead", g.pickRecent(g.leads)))
}

// resolveStep returns an operator's decision on an unconfirmed delivery, sometimes after the
// erasure of its person.
func (g *generator) resolveStep() line {
	of := g.pickRecent(g.leads)
	if g.IntN(3) == 0 {
		g.add(step("erase", "", "lead", of))
	}
	return step("resolve", of+" "+g.pickWord("confirm", "release", "resend", "resend"))
}

func (g *generator) downtime() string {
	return g.pickWord("", "", "1s", "3m", "11h", "40h")
}

// pickRecent returns one of the last few words.
func (g *generator) pickRecent(words []string) string {
	if len(words) == 0 {
		return "#0"
	}
	if recent := len(words) - 1 - g.IntN(12); recent >= 0 && g.IntN(3) > 0 {
		return words[recent]
	}
	return words[g.IntN(len(words))]
}

func (g *generator) label() string {
	g.next++
	return "#" + strconv.Itoa(g.next)
}

// maybeDying sometimes makes the process die during the request.
func (g *generator) maybeDying(l line) line {
	if g.IntN(40) == 0 {
		l.said["dies"] = strconv.Itoa(g.IntN(5))
		if l.said["dies"] != "0" && g.IntN(2) == 0 {
			l.said["unheard"] = "yes"
		}
	}
	return l
}

func (g *generator) lead() line {
	label := g.label()
	person := strconv.Itoa(g.next)
	if g.IntN(5) == 0 {
		person = strconv.Itoa(g.IntN(40))
	}
	email := person
	if g.IntN(8) == 0 {
		email = strconv.Itoa(g.IntN(40))
	}
	l := step("lead", label+" "+g.pickWord("acme", "acme", "best")+" "+g.pickRecent(g.campaigns), "phone", person, "email", email,
		"state", g.pickWord("CA", "CA", "NY", "TX", ""), "vehicles", g.pickWord("", "1", "2", "3"))
	if g.IntN(2) == 0 {
		l.said["key"] = "k" + label
		if g.IntN(30) == 0 {
			l.said["key"] = "k" + g.pickRecent(g.keyed)
		}
		g.keyed = append(g.keyed, label)
		g.sent[label] = g.now
	}
	g.leads = append(g.leads, label)
	return g.maybeDying(l)
}

// repeatStep repeats a request: a recent one, or one with a key that expires about now.
func (g *generator) repeatStep() line {
	const expiry = 30 * 24 * time.Hour
	for _, label := range g.keyed {
		at := g.sent[label].Add(expiry)
		if g.IntN(3) == 0 && at.After(g.now.Add(time.Minute)) && at.Before(g.now.Add(3*time.Hour)) {
			at = at.Add(time.Duration(g.IntN(120)-60) * time.Minute)
			if at.After(g.now) {
				return step("resend", label+" "+g.label(), "at", at.Format(time.RFC3339Nano))
			}
		}
	}
	return g.maybeDying(step("resend", g.pickRecent(g.keyed)+" "+g.label()))
}

func (g *generator) report() line {
	status := g.pickWord("contacted", "qualified", "sold", "returned", "returned")
	key := "s" + g.label()
	if g.IntN(6) == 0 {
		key = "s"
	}
	l := step("report", g.pickRecent(g.buyers)+" "+g.pickRecent(g.leads)+" "+status, "key", key)
	if status == "returned" && g.IntN(20) > 0 {
		l.said["reason"] = "wrong_number"
	}
	return g.maybeDying(l)
}

// auctionStep returns a ping or an availability request.
func (g *generator) auctionStep() line {
	if len(g.bidding) == 0 {
		return line{}
	}
	ref := "?" + g.label()[1:]
	verb := g.pickWord("ask", "ping")
	l := step(verb, ref+" "+g.pickWord("acme", "best")+" "+g.pickRecent(g.bidding), "state", g.pickWord("CA", "CA", "NY"), "vehicles", g.pickWord("", "2", "3"))
	if verb == "ping" || g.IntN(2) == 0 {
		l.said["key"] = "q" + ref
	}
	g.asks = append(g.asks, l)
	g.add(g.maybeDying(l))
	return g.saleStep()
}

// saleStep returns a sale at an earlier bid, which may be invalid.
func (g *generator) saleStep() line {
	if len(g.asks) == 0 {
		return line{}
	}
	a := g.asks[max(0, len(g.asks)-1-g.IntN(3))]
	label := g.label()
	person := strconv.Itoa(g.next)
	said := map[string]string{"state": a.said["state"], "phone": person, "email": person, "ping": a.at(0), "key": "t" + label}
	if a.has("vehicles") {
		said["vehicles"] = a.said["vehicles"]
	}
	l := line{verb: "sale", about: []string{label, a.at(1), a.at(2)}, said: said}
	if a.verb == "ask" {
		l.verb, said["buyer"] = "lead", g.pickRecent(g.buyers)
	}
	l.after = time.Duration(1 + g.IntN(6_000_000_000))
	g.leads, g.keyed = append(g.leads, label), append(g.keyed, label)
	return g.maybeDying(l)
}

// conductStep returns a change of a buyer's or supplier's behavior.
func (g *generator) conductStep() line {
	buyer := g.pickRecent(g.buyers)
	in := fmt.Sprint(g.IntN(900_000_000)) + "ns"
	switch g.IntN(6) {
	case 0:
		return step("hears", "acme "+g.pickWord("nothing", "everything"))
	case 1, 2:
		return step("bids", buyer+" "+g.pickWord("bid", "bid", "bid", "none", "error", "garbage", "throttle", "euro", "hang"),
			"base", g.dollars(3, 14), "spread", g.pickWord("", "3", "5"), "step", "1.25", "in", g.pickWord("", in, in, "2s", "2000000001ns"))
	}
	return step("answers", buyer+" "+g.pickWord("accept", "accept", "accept", "refuse", "forbid", "fail", "forget", "hang", "unreached", "busy"),
		"in", g.pickWord("", in, in), "again", g.pickWord("1s", "7s"))
}

// changeStep returns a change of the market: other caps, weights or prices, or a filter set that is
// removed or added again.
func (g *generator) changeStep() line {
	names := slices.Sorted(maps.Keys(g.named))
	l := g.named[names[g.IntN(len(names))]]
	changed := step(l.verb, strings.Join(l.about, " "))
	maps.Copy(changed.said, l.said)
	delete(changed.said, "gone")
	switch l.verb {
	case "seat":
		if g.IntN(4) == 0 {
			changed.said["gone"] = "yes"
			break
		}
		changed.said["weight"], changed.said["price"] = fmt.Sprint(1+g.IntN(4)), g.dollars(5, 15)
	case "campaign":
		changed.said["floor"] = g.pickWord("1", "4", "8")
	}
	if caps := strings.Split(changed.said["caps"], ","); g.IntN(2) == 0 && caps[0] != "" {
		for i := range caps {
			limit, zone, _ := strings.Cut(caps[i], "@")
			words := strings.Split(limit, ":")
			caps[i] = words[0] + ":" + words[1] + ":" + strconv.Itoa(1+g.IntN(30)) + "@" + zone
		}
		changed.said["caps"] = strings.Join(caps, ",")
	}
	return g.term(changed)
}
