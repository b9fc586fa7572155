package server

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// asker is who asks at the operators' address.
type asker struct {
	name string
	role market.Role
}

// askerKey is the request's value that holds its asker, once it is known.
const askerKey = "asker"

// actorOf is who asks, as facts and the log's readers know them; empty where nobody
// has been let in.
func actorOf(ctx *fasthttp.RequestCtx) string {
	who, _ := ctx.UserValue(askerKey).(asker)
	return who.name
}

// roleOf is what who asks may do; none where nobody has been let in.
func roleOf(ctx *fasthttp.RequestCtx) market.Role {
	who, _ := ctx.UserValue(askerKey).(asker)
	return who.role
}

const (
	maxActor = 64         // bytes of an operator's name
	nameless = "operator" // who gives the configured password and no name
)

// actorName is the name that somebody gives beside the configured password, cut to
// what a fact keeps: it proves nothing, and says who of those who know it that was.
func actorName(given string) string {
	name := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, given)
	for len(name) > maxActor {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name = strings.TrimSpace(name); name == "" {
		return nameless
	}
	return name
}
