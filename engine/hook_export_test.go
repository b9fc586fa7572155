package engine

// Of the schedule.
var (
	HookGaps     = hookGaps
	HookAttempts = hookAttempts
	Jittered     = jittered
)
