package alert

import "pingpost/engine/market"

// Quantity is a value or threshold of a rule: a decimal number with six places. It counts the unit
// of the rule's kind, such as percent, money or minutes. It is no float, because some are money.
type Quantity = market.Money

// One is the Quantity 1.
const One Quantity = 1_000_000

// PercentOf returns part/whole in percent. whole is not 0.
func PercentOf(part, whole int64) Quantity {
	for part > 1<<36 || part < -1<<36 { // keeps the product in range; the lost precision is below a millionth
		part, whole = part/2, whole/2
	}
	return Quantity(part * 100 * int64(One) / max(whole, 1))
}

// SubjectKind is the type of object that a rule watches.
type SubjectKind string

const (
	SubjectExchange SubjectKind = "exchange"
	SubjectBuyer    SubjectKind = "buyer"
	SubjectCampaign SubjectKind = "campaign"
	SubjectSupplier SubjectKind = "supplier"
)

// Unit is what a Quantity counts.
type Unit string

const (
	UnitPercent Unit = "percent"
	UnitMoney   Unit = "money"
	UnitDays    Unit = "days"
	UnitMinutes Unit = "minutes"
	UnitCount   Unit = "count"
	UnitGB      Unit = "gigabytes"
)

// KindName is the name of a kind of rule.
type KindName string

const (
	CapUsed            KindName = "cap_used"
	BuyerBalance       KindName = "buyer_balance"
	BuyerDaysLeft      KindName = "buyer_days_left"
	BuyerFailures      KindName = "buyer_failures"
	AcceptRate         KindName = "accept_rate"
	SoldRate           KindName = "sold_rate"
	CampaignSoldRate   KindName = "campaign_sold_rate"
	WebhookFailing     KindName = "webhook_failing"
	WebhookDeadLetters KindName = "webhook_dead_letters"
	BackupAge          KindName = "backup_age"
	DiskFree           KindName = "disk_free"
)

// Kind is one kind of rule: what it measures, of which objects, and when that is bad.
type Kind struct {
	Name    KindName    `json:"kind"`
	Title   string      `json:"title"`
	Subject SubjectKind `json:"subject"`
	Unit    Unit        `json:"unit"`
	Below   bool        `json:"below"`  // a value below the threshold is bad; otherwise one at or above it
	Window  bool        `json:"window"` // it measures the last minutes, and needs a minimum of requests
	Source  string      `json:"source"` // state, metrics, report, backup or disk
}

// Kinds are all kinds of rules, in the order of the console.
var Kinds = []Kind{
	{CapUsed, "Cap used", SubjectBuyer, UnitPercent, false, false, "state"},
	{BuyerBalance, "Buyer balance", SubjectBuyer, UnitMoney, true, false, "state"},
	{BuyerDaysLeft, "Days until the balance is spent", SubjectBuyer, UnitDays, true, false, "report"},
	{BuyerFailures, "Buyer timeouts and errors", SubjectBuyer, UnitPercent, false, true, "metrics"},
	{AcceptRate, "Accept rate of a buyer", SubjectBuyer, UnitPercent, true, true, "metrics"},
	{SoldRate, "Sold rate", SubjectExchange, UnitPercent, true, true, "metrics"},
	{CampaignSoldRate, "Sold rate of a campaign", SubjectCampaign, UnitPercent, true, true, "report"},
	{WebhookFailing, "Webhooks to a supplier fail", SubjectSupplier, UnitMinutes, false, false, "state"},
	{WebhookDeadLetters, "Failed events of a supplier", SubjectSupplier, UnitCount, false, false, "state"},
	{BackupAge, "Age of the backup", SubjectExchange, UnitMinutes, false, false, "backup"},
	{DiskFree, "Free disk space", SubjectExchange, UnitGB, true, false, "disk"},
}

// FindKind returns the kind with this name, or nil.
func FindKind(name KindName) *Kind {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i]
		}
	}
	return nil
}
