package state

import "slices"

// ListFiles are the names of the files that hold what suppression lists contain
// now, those of lists that no configuration has any more included: a list that
// comes back goes on with what it had.
func (s *State) ListFiles() []string {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	files := make([]string, 0, len(s.access.lists))
	for _, list := range s.access.lists {
		files = append(files, list.File)
	}
	slices.Sort(files)
	return slices.Compact(files)
}
