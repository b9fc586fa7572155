package engine

import "time"

// Of the schedule.
var (
	HookGaps     = hookGaps
	HookAttempts = hookAttempts
	Jittered     = jittered
)

// HookPatience is how long an endpoint may fail.
const HookPatience = time.Duration(hookPatience)
