package loopback

import (
	"testing"
	"time"
)

// TestStandbyLacksWhatCameAfterDetach promotes a standby that was detached between two commits.
func TestStandbyLacksWhatCameAfterDetach(t *testing.T) {
	t.Parallel()
	primary := startPostgresT(t)
	execute(t, primary.URL("postgres"), "create table kept (n int)")
	standby, err := primary.StartStandby(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Stop)
	execute(t, primary.URL("postgres"), "insert into kept values (1)")
	ctx := within(t, time.Minute)
	if err := standby.CatchUp(ctx, primary); err != nil {
		t.Fatal(err)
	}
	if err := standby.Detach(ctx); err != nil {
		t.Fatal(err)
	}
	execute(t, primary.URL("postgres"), "insert into kept values (2)")
	if err := standby.Promote(ctx); err != nil {
		t.Fatal(err)
	}
	if n := count(t, standby.URL("postgres")); n != 1 {
		t.Errorf("the promoted standby has %d rows, want 1", n)
	}
	execute(t, standby.URL("postgres"), "insert into kept values (3)")
	if n := count(t, primary.URL("postgres")); n != 2 {
		t.Errorf("the primary has %d rows, want 2", n)
	}
}
