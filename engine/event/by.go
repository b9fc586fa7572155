package event

// By is the operator who asked for a fact, by the name that the exchange knows; empty
// where nobody did, or where an earlier program wrote it.
func By(e Event) string {
	switch e := e.(type) {
	case *CatalogSet:
		return e.By
	case *CredentialSet:
		return e.By
	case *SecretSet:
		return e.By
	case *PostSettled:
		return e.By
	case *FundsMoved:
		return e.By
	case *DoorSet:
		return e.By
	case *ListLoaded:
		return e.By
	case *StatusChanged:
		return e.By
	case *HookTried:
		return e.By
	case *HooksSwitched:
		return e.By
	case *LeadsErased:
		return e.By
	case *UserSet:
		return e.By
	case *APITokenSet:
		return e.By
	}
	return ""
}
