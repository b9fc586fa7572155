// Package selection decides which buyers of a campaign may get a lead, and ranks their bids. It
// performs no I/O. CompiledFilterSets is compiled from a campaign once, when the catalog changes,
// and every decision depends on the arguments alone. Only BuyerPingHealth changes between
// decisions.
package selection
