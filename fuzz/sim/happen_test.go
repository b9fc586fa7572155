package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// happening is what happens next.
func (g *generator) happening() line {
	switch n := g.IntN(1000); {
	case n < 440:
		return g.lead()
	case n < 465:
		return g.dying(g.someStaff())
	case n < 480:
		return g.erasing()
	case n < 540:
		return g.resend()
	case n < 640:
		return g.report()
	case n < 700:
		return g.asking()
	case n < 750:
		return g.taking()
	case n < 830:
		return g.conduct()
	case n < 850:
		return step("decide", g.some(g.leads)+" "+g.one("approve", "refuse"))
	case n < 865:
		return g.resolving()
	case n < 900:
		kind, name := "campaign", g.some(g.camps)
		if g.IntN(2) == 0 {
			kind, name = "buyer", g.some(g.buyers)
		}
		g.next++
		shut := step("pause", kind+" "+name)
		g.add(shut)
		g.add(g.lead())
		return step("resume", kind+" "+name)
	case n < 920:
		return step("topup", g.some(g.buyers), "by", g.dollars(5, 90))
	case n < 945:
		return g.change()
	case n < 960:
		return step("snapshot", "")
	case n < 975:
		return step("crash", "", "for", g.downtime(), "plain", g.one("", "yes"), "keys", g.one("", "older"))
	case n < 985:
		return step("restart", "", "for", g.downtime(), "plain", g.one("", "yes"), "keys", g.one("", "older"))
	case n < 990:
		return step("tellagain", "acme")
	}
	return step("list", "dnc", "persons", strings.Join([]string{"7", strconv.Itoa(g.IntN(30)), strconv.Itoa(g.IntN(30))}, ","))
}

// erasing is somebody who wants to be forgotten.
func (g *generator) erasing() line {
	person := strconv.Itoa(g.IntN(40))
	if g.IntN(2) == 0 {
		person = strconv.Itoa(max(0, g.next-g.IntN(6)))
	}
	switch g.IntN(3) {
	case 0:
		return g.dying(step("erase", "", "phone", person))
	case 1:
		return g.dying(step("erase", "", "email", person))
	}
	return g.dying(step("erase", "", "lead", g.some(g.leads)))
}

// resolving is an operator's word on a delivery whose fate nobody knows, at times after
// its person was erased.
func (g *generator) resolving() line {
	of := g.some(g.leads)
	if g.IntN(3) == 0 {
		g.add(step("erase", "", "lead", of))
	}
	return step("resolve", of+" "+g.one("confirm", "release", "resend", "resend"))
}

func (g *generator) downtime() string {
	return g.one("", "", "1s", "3m", "11h", "40h")
}

// some is one of the last few of some words.
func (g *generator) some(words []string) string {
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

// dying is, rarely, how a request ends in the middle.
func (g *generator) dying(l line) line {
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
	l := step("lead", label+" "+g.one("acme", "acme", "best")+" "+g.some(g.camps), "phone", person, "email", email,
		"state", g.one("CA", "CA", "NY", "TX", ""), "vehicles", g.one("", "1", "2", "3"))
	if g.IntN(2) == 0 {
		l.said["key"] = "k" + label
		if g.IntN(30) == 0 {
			l.said["key"] = "k" + g.some(g.keyed)
		}
		g.keyed = append(g.keyed, label)
		g.sent[label] = g.now
	}
	g.leads = append(g.leads, label)
	return g.dying(l)
}

// resend sends one again: of late, or at about the time at which its key expires.
func (g *generator) resend() line {
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
	return g.dying(step("resend", g.some(g.keyed)+" "+g.label()))
}

func (g *generator) report() line {
	status := g.one("contacted", "qualified", "sold", "returned", "returned")
	key := "s" + g.label()
	if g.IntN(6) == 0 {
		key = "s"
	}
	l := step("report", g.some(g.buyers)+" "+g.some(g.leads)+" "+status, "key", key)
	if status == "returned" && g.IntN(20) > 0 {
		l.said["reason"] = "wrong_number"
	}
	return g.dying(l)
}

// asking begins an auction that is told.
func (g *generator) asking() line {
	if len(g.bidding) == 0 {
		return line{}
	}
	ref := "?" + g.label()[1:]
	verb := g.one("ask", "ping")
	l := step(verb, ref+" "+g.one("acme", "best")+" "+g.some(g.bidding), "state", g.one("CA", "CA", "NY"), "vehicles", g.one("", "2", "3"))
	if verb == "ping" || g.IntN(2) == 0 {
		l.said["key"] = "q" + ref
	}
	g.asks = append(g.asks, l)
	g.add(g.dying(l))
	return g.taking()
}

// taking takes up a bid that was told, or tries to.
func (g *generator) taking() line {
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
		l.verb, said["buyer"] = "lead", g.some(g.buyers)
	}
	l.after = time.Duration(1 + g.IntN(6_000_000_000))
	g.leads, g.keyed = append(g.leads, label), append(g.keyed, label)
	return g.dying(l)
}

// conduct is somebody who behaves otherwise from now on.
func (g *generator) conduct() line {
	buyer := g.some(g.buyers)
	in := fmt.Sprint(g.IntN(900_000_000)) + "ns"
	switch g.IntN(6) {
	case 0:
		return step("hears", "acme "+g.one("nothing", "everything"))
	case 1, 2:
		return step("bids", buyer+" "+g.one("bid", "bid", "bid", "none", "error", "garbage", "throttle", "euro", "hang"),
			"base", g.dollars(3, 14), "spread", g.one("", "3", "5"), "step", "1.25", "in", g.one("", in, in, "2s", "2000000001ns"))
	}
	return step("answers", buyer+" "+g.one("accept", "accept", "accept", "refuse", "forbid", "fail", "forget", "hang", "unreached", "busy"),
		"in", g.one("", in, in), "again", g.one("1s", "7s"))
}

// change is a term of the market put otherwise: other limits, weights, prices, or
// a seat that goes or comes back.
func (g *generator) change() line {
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
		changed.said["floor"] = g.one("1", "4", "8")
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
