package flinkplan.runtime.window;

import flinkplan.runtime.window.KeyState.Kept;
import flinkplan.runtime.window.KeyState.Timer;

/** What triggers ask for while a key's rows are worked on. */
final class KeyContext implements Trigger.Context {
    final long clock;
    long watermark = Long.MIN_VALUE;
    private final KeyState own;

    KeyContext(KeyState own, long clock) {
        this.own = own;
        this.clock = clock;
    }

    @Override
    public long watermark() {
        return watermark;
    }

    @Override
    public long clock() {
        return clock;
    }

    @Override
    public void registerEventTimer(Window window, long time) {
        own.eventTimers.add(new Timer(time, window));
    }

    @Override
    public void deleteEventTimer(Window window, long time) {
        own.eventTimers.remove(new Timer(time, window));
    }

    @Override
    public void registerClockTimer(Window window, long time) {
        own.clockTimers.add(new Timer(time, window));
    }

    @Override
    public void deleteClockTimer(Window window, long time) {
        own.clockTimers.remove(new Timer(time, window));
    }

    @Override
    public TriggerState state(Window window) {
        return own.triggers.computeIfAbsent(window, each -> new Kept(new TriggerState(), clock)).state;
    }

    @Override
    public TriggerState existing(Window window) {
        Kept kept = own.triggers.get(window);
        return kept == null ? null : kept.state;
    }
}
