package model

// Account is the user's money, in minor units.
type Account struct {
	Balance        int64
	Currency       Currency
	NextCommitment string // to the seed of the next packet that the user will send
	Version        int64  // of Balance: increases with each change; 0 before the first change, or if the server is too old to send it
}
