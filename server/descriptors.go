package server

import "log/slog"

// reserve is how many descriptors connections must leave for the log, the
// buyers and the operators.
const reserve = 512

// affordable is how many connections the process can hold of those that are
// wanted, where the system gives it so many descriptors (0: nobody knows).
func affordable(wanted int, descriptors uint64, logger *slog.Logger) int {
	if descriptors == 0 || uint64(wanted)+reserve <= descriptors {
		return wanted
	}
	fit := max(int(descriptors)-reserve, int(descriptors)/2, 1)
	if fit >= wanted {
		return wanted
	}
	logger.Warn("limits.connections is more than the limit of open files allows, and is lowered; raise the latter (ulimit -n, or LimitNOFILE of systemd)",
		"connections", wanted, "open_files", descriptors, "now", fit)
	return fit
}
