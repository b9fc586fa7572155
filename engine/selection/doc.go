// Package selection selects the buyer. Its functions are pure: CompiledFilterSets is compiled from
// a campaign once, when the catalog changes, and every decision depends on the arguments
// alone.
package selection
