package config

import (
	"strings"

	"pingpost/engine/event"
)

// warn tells of what is allowed and most likely not meant.
func (c *compiler) warn(at place, message string) {
	c.out.Warnings = append(c.out.Warnings, c.problem(at, message))
}

// opens are the scopes that open something to a supplier or a buyer.
var opens = map[event.NameKind]map[string]bool{
	event.NameSupplier: {ScopePing: true, ScopePost: true},
	event.NameBuyer:    {ScopeWebhook: true},
}

// idle warns of scopes that open nothing: a token with them gets no further than one
// without, which its owner finds out when it is needed.
func (c *compiler) idle(at place, owner event.NameKind, names []string) {
	for i, name := range names {
		if known := name == ScopePing || name == ScopePost || name == ScopeWebhook; known && !opens[owner][name] {
			c.warn(at.at(i), "opens nothing here: suppliers ping and post, and buyers report by webhook; take it out")
		}
	}
}

// weakSecret is below how many bytes a webhook's secret is called weak: Standard
// Webhooks has 24 to 64.
const weakSecret = 24

// weak warns of a webhook's secret that can be guessed by whoever has one delivery.
func (c *compiler) weak(at place, key []byte) {
	if len(key) < weakSecret {
		c.warn(at, "has fewer than 24 bytes, and could be guessed by who has seen one delivery; make a new one by POST /admin/v1/webhooks/ID/secret")
	}
}

// Print is the warnings in lines, each with its place.
func (p Problems) Print() string {
	var b strings.Builder
	for _, problem := range p {
		b.WriteString("warning: " + problem.Error() + "\n")
	}
	return b.String()
}
