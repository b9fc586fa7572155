//go:build linux

package main

// Operator actions are no faults, but run like them: a configuration is applied, a webhook is
// disabled and enabled, and a buyer is paused and must stay paused over a kill.
var (
	_ = register(fault{name: "buyer paused over a kill", weight: 1, inject: func(t *torture) bool {
		return t.PauseBuyerDuring(func() {
			t.Kill()
			t.Start()
		}, func() {
			until := t.Suppliers.Answered() + fewLeads/2
			t.Suppliers.SendLeads(fewLeads)
			t.awaitAnswered(until)
		})
	}})
	_ = register(fault{name: "configuration applied", weight: 1, inject: func(t *torture) bool { return t.ApplyConfig() }})
	_ = register(fault{name: "webhook off and on", weight: 1, inject: func(t *torture) bool {
		return t.ControlWebhook("off") && t.ControlWebhook("on") && t.ControlWebhook("resend")
	}})
)
