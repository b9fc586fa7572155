package engine

import (
	"time"

	"pingpost/engine/event"
)

// Commit commits a fact that no verb of these tests makes.
func Commit(e *Engine, fact event.Event) error { return e.commit(fact, nil) }

// Of the schedule.
var (
	HookGaps     = hookGaps
	HookAttempts = hookAttempts
	Jittered     = jittered
)

// HookPatience is how long an endpoint may fail.
const HookPatience = time.Duration(hookPatience)
