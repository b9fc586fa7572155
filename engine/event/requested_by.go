package event

// RequestedBy returns the name of the operator who caused the event. It is empty if no operator
// did, or if an earlier program wrote the event without the name.
func RequestedBy(e Event) string {
	switch e := e.(type) {
	case *CatalogSet:
		return e.By
	case *CredentialSet:
		return e.By
	case *SecretSet:
		return e.By
	case *PostSettled:
		return e.By
	case *BuyerFundsMoved:
		return e.By
	case *PauseSet:
		return e.By
	case *SuppressionListLoaded:
		return e.By
	case *StatusChanged:
		return e.By
	case *WebhookAttempted:
		return e.By
	case *WebhooksSwitched:
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
