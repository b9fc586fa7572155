package market

// HookType is what a supplier is told of its lead by a webhook. Of one lead each
// happens at most once. Numbers are in the log and never change.
type HookType uint8

const (
	HookNone       HookType = 0
	HookPosted     HookType = 1 // its buyer has it
	HookContacted  HookType = 2
	HookQualified  HookType = 3
	HookSold       HookType = 4
	HookReturned   HookType = 5
	HookUnmatched  HookType = 6 // no buyer took it
	HookPostFailed HookType = 7 // it was ACCEPTED, and its buyer turned out not to have it
	hookTypeEnd    HookType = 8
)

var hookNames = [hookTypeEnd]string{
	"none", "lead.posted", "lead.contacted", "lead.qualified", "lead.sold",
	"lead.returned", "lead.unmatched", "lead.post_failed",
}

func (t HookType) String() string {
	if t >= hookTypeEnd {
		return "unknown_hook"
	}
	return hookNames[t]
}

// HookTypes is how many types there are, with HookNone.
const HookTypes = int(hookTypeEnd)
