// Stands in for the stage and its turns in a matrix without transitions, a third smaller.

/** @param {object} picture as for the stage */
function buildStage(picture) {
  const root = make("div");
  root.hidden = true;
  return { root, ...picture };
}

const seen = ({ data }) => ({ data, frame: null, masked: data.masked });

function drawStage(state) {
  if (state.stage.canDraw(state)) state.stage.write(state);
}

const goBack = () => false;
function takeTurn() {}
function halt() {}
function listenToStage() {}
function uncoverCells() {}
