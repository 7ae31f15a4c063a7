/* A run that is being recorded: the server tells of each new window, and of the end. One request at a time: windows that come while the page
 * asks for what it shows are one more. */

import { HAS } from './api.js';

export class LiveRun {
  /* options: onstart(): the run is being recorded, onwindow() -> promise, onend(), onerror(error). */
  constructor(options) {
    this.options = options;
    this.ended = new Set(); // runs that are over, as the server said
    this.isRecording = undefined; // undefined: nothing is recorded
  }

  /* A run without an end is asked about: it is being recorded, or was interrupted. null: no run. */
  follow(run) {
    const uuid = HAS.live && run && run.source === 'profile' && !run.exit && !this.ended.has(run.uuid) ? run.uuid : '';
    if (this.events && this.events.uuid === uuid) return;
    this.stop();
    if (!uuid) return;
    this.events = new EventSource(location.origin + '/api/live?' + new URLSearchParams({ runs: uuid }));
    this.events.uuid = uuid;
    this.events.addEventListener('window', event => {
      const isNew = this.isRecording === undefined;
      this.isRecording = JSON.parse(event.data).recording;
      if (isNew) this.options.onstart();
      this.renew();
    });
    this.events.addEventListener('end', () => this.end(uuid));
  }

  stop() {
    if (this.events) this.events.close();
    this.events = null;
    this.isRecording = undefined;
  }

  end(uuid) {
    const wasRecorded = this.isRecording !== undefined;
    this.stop();
    this.ended.add(uuid);
    if (wasRecorded) this.options.onend();
  }

  async renew() {
    if (this.isAsking) {
      this.isLate = true;
      return;
    }
    this.isAsking = true;
    try {
      await this.options.onwindow();
    } catch (error) {
      if (error.name !== 'AbortError') this.options.onerror(error);
    }
    this.isAsking = false;
    if (this.isLate) {
      this.isLate = false;
      this.renew();
    }
  }
}
