// Package canonical works on canonical documents: JSON with all defaults, in a fixed
// order, without secrets. It encodes and compares them, exports them as YAML, and takes
// them apart into entries that can be edited one by one.
package canonical
