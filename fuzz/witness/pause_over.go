//go:build unix

package witness

// Pausable is a buyer in most campaigns, with room to the last: it is missed.
const Pausable = "rec_rest"

// PauseOver has a buyer paused, the exchange end and begin again in some way, and leads
// come meanwhile; and then the buyer is back. It is false where the pause was not
// acknowledged.
func (s *Scene) PauseOver(restart, meanwhile func()) bool {
	if !s.done("POST", "/admin/v1/buyers/"+Pausable+"/pause", "") {
		return false
	}
	restart()
	shut := pause{buyer: Pausable, after: s.Hash().Seq}
	meanwhile()
	shut.upTo = s.Hash().Seq
	s.pauses = append(s.pauses, shut)
	return s.done("POST", "/admin/v1/buyers/"+Pausable+"/resume", "")
}
