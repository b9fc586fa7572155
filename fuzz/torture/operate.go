//go:build linux

package main

// What operators do while all goes on is no fault, and is done as if it were one: a
// configuration that is applied, a webhook that is switched off and on, a buyer that is
// paused and stays so over a kill.
var (
	_ = register(fault{name: "buyer paused over a kill", weight: 1, strike: func(t *torture) bool {
		return t.PauseBuyerDuring(func() {
			t.Kill()
			t.Start()
		}, func() {
			until := t.Suppliers.Answered() + few/2
			t.Suppliers.SendLeads(few)
			t.answered(until)
		})
	}})
	_ = register(fault{name: "configuration applied", weight: 1, strike: func(t *torture) bool { return t.ApplyConfig() }})
	_ = register(fault{name: "webhook off and on", weight: 1, strike: func(t *torture) bool {
		return t.ControlWebhook("off") && t.ControlWebhook("on") && t.ControlWebhook("resend")
	}})
)
