package config

import (
	"fmt"
	"time"
)

// Limits are those of the process and its addresses. The limits of one supplier
// or buyer stand beside it.
type Limits struct {
	Body          *Size     `json:"body"`             // of a request
	Answer        *Size     `json:"answer"`           // of a buyer's answer
	Header        *Size     `json:"header"`           // of a request, all of its lines
	Connections   *int      `json:"connections"`      // open at once
	MaxConnsPerIP *int      `json:"max_conns_per_ip"` // open at once from one address
	AuthFailures  *int      `json:"auth_failures"`    // wrong credentials a second from one address
	Documents     *int      `json:"documents"`        // API documents a second that one address is sent
	ReadTimeout   *Duration `json:"read_timeout"`     // for a request to arrive
	WriteTimeout  *Duration `json:"write_timeout"`    // for an answer to leave
	IdleTimeout   *Duration `json:"idle_timeout"`     // of a connection between requests
}

// maxBody leaves room in an entry of the log for a lead twice, under other names
// for its fields, and for the decision.
const maxBody = 400 * kibibyte

func (l *Limits) fill() {
	l.Body = given(l.Body, 64*kibibyte)
	l.Answer = given(l.Answer, 64*kibibyte)
	l.Header = given(l.Header, 16*kibibyte)
	l.Connections = given(l.Connections, 10_000)
	l.MaxConnsPerIP = given(l.MaxConnsPerIP, 1_000)
	l.AuthFailures = given(l.AuthFailures, 100)
	l.Documents = given(l.Documents, 10)
	l.ReadTimeout = l.ReadTimeout.orElse(10 * time.Second)
	l.WriteTimeout = l.WriteTimeout.orElse(10 * time.Second)
	l.IdleTimeout = l.IdleTimeout.orElse(time.Minute)
}

func (c *compiler) limits(at place, l *Limits) LimitSettings {
	if *l.Body > maxBody {
		c.fail(at.key("body"), fmt.Sprintf("is over %s: a lead is logged as it came and once more as it is posted, "+
			"both in one entry, and an entry of the log holds 1MiB; give %s to %s", maxBody, kibibyte, maxBody))
	} else {
		c.sizeIn(at.key("body"), *l.Body, kibibyte, maxBody)
	}
	c.sizeIn(at.key("answer"), *l.Answer, kibibyte, 16*mebibyte)
	c.sizeIn(at.key("header"), *l.Header, kibibyte, mebibyte)
	c.intIn(at.key("connections"), *l.Connections, 1, 1_000_000)
	c.intIn(at.key("max_conns_per_ip"), *l.MaxConnsPerIP, 1, 1_000_000)
	c.intIn(at.key("auth_failures"), *l.AuthFailures, 1, 1_000_000)
	c.intIn(at.key("documents"), *l.Documents, 1, 1_000_000)
	c.spanIn(at.key("read_timeout"), l.ReadTimeout, 100*time.Millisecond, time.Hour)
	c.spanIn(at.key("write_timeout"), l.WriteTimeout, 100*time.Millisecond, time.Hour)
	c.spanIn(at.key("idle_timeout"), l.IdleTimeout, 100*time.Millisecond, day)
	return LimitSettings{
		Body:          int(*l.Body),
		Answer:        int(*l.Answer),
		Header:        int(*l.Header),
		Connections:   *l.Connections,
		MaxConnsPerIP: *l.MaxConnsPerIP,
		AuthFailures:  *l.AuthFailures,
		Documents:     *l.Documents,
		ReadTimeout:   l.ReadTimeout.span(),
		WriteTimeout:  l.WriteTimeout.span(),
		IdleTimeout:   l.IdleTimeout.span(),
	}
}
